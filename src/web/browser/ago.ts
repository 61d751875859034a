/** Relative times in words, on the server and while a page is open. */
const steps = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const

let formatter: Intl.RelativeTimeFormat | undefined

/** `seconds`: negative for the past. */
export function relation(seconds: number): string {
  const step = steps.find(([, length]) => Math.abs(seconds) >= length)
  if (!step) return 'just now'
  // Made when it is needed: it loads megabytes of locale data.
  formatter ??= new Intl.RelativeTimeFormat('en', { numeric: 'auto' })
  return formatter.format(Math.round(seconds / step[1]), step[0])
}
