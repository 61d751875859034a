/** The first of so many places at which it is not so; it is so at all before, and at none behind. */
export function firstNot(length: number, isSo: (place: number) => boolean): number {
  let [from, to] = [0, length]
  while (from < to) {
    const middle = (from + to) >> 1
    if (isSo(middle)) from = middle + 1
    else to = middle
  }
  return from
}
