/**
 * How often a passage occurs in a text, in time that grows with their lengths alone (Knuth, Morris
 * and Pratt). The search of V8 compares the passage anew at each place that looks alike: in a text
 * of one letter that takes quadratic time.
 */

export interface Occurrences {
  /** Overlapping ones too: which of them is meant would be a guess. */
  readonly count: number
  /** Where the last of them begins; -1 if there is none. */
  readonly at: number
}

/** Several times as fast to walk as the string. */
function unitsOf(text: string): Uint16Array {
  const bytes = Buffer.allocUnsafeSlow(text.length * 2)
  bytes.write(text, 'utf16le')
  return new Uint16Array(bytes.buffer, 0, text.length)
}

/**
 * By how many units of the passage were met: how many of them to go on with if the next one is
 * another; -1: with the next unit of the text. At its end: how many after a whole occurrence.
 */
function retriesOf(passage: Uint16Array): Int32Array {
  const retries = new Int32Array(passage.length + 1)
  retries[0] = -1
  let met = 0
  for (let at = 1; at < passage.length; at++) {
    const unit = passage[at]
    retries[at] = passage[met] === unit ? (retries[met] as number) : met
    while (met >= 0 && passage[met] !== unit) met = retries[met] as number
    met++
  }
  retries[passage.length] = met
  return retries
}

/** The passage is not empty. */
export function occurrencesIn(text: string, passage: string): Occurrences {
  const { length } = passage
  if (length > text.length) return { count: 0, at: -1 }
  const [units, wanted] = [unitsOf(text), unitsOf(passage)]
  const retries = retriesOf(wanted)
  let count = 0
  let last = -1
  for (let at = 0, met = 0; at < units.length; at++) {
    while (met >= 0 && wanted[met] !== units[at]) met = retries[met] as number
    if (++met < length) continue
    count++
    last = at + 1 - length
    met = retries[length] as number
  }
  return { count, at: last }
}
