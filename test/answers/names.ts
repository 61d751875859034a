/**
 * Stable names for what differs from run to run, numbered by first appearance, so that a recording
 * still shows which token, id or session is which.
 */

const numbered: Readonly<Record<string, RegExp>> = {
  // One character fewer is a token that was cut short; capitals are a token in another case.
  'agent-token': /aha_[0-9a-z]{48,49}/gi,
  'operator-token': /aho_[0-9a-z]{48,49}/gi,
  id: /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g,
  session: /(?<=agent-home-session=)[\w-]{43}/g,
  'form-key': /(?<=name=key value=)[0-9a-f]{64}/g,
}

const unnumbered: Readonly<Record<string, RegExp>> = {
  '<$1>': /(?<="(hash|content|salt|head)": ?")[0-9a-f]{64}/g,
  '<head>': /(?<=event \d+, )[0-9a-f]{64}/g,
  '<statement>': /eyJ[\w-]+\.[\w-]+\.[\w-]+/g,
  '<milliseconds>': /(?<=\?since=)\d{13}/g,
  '<time>': /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g,
  '<moment>': /\d{1,2} [A-Z][a-z]+ \d{4} at \d\d:\d\d UTC/g,
  '<day and time>': /\b\d{1,2} \w{3} \d{4}, \d\d:\d\d UTC/g,
  '<time of day>': /\b\d\d:\d\d UTC/g,
  '<day in words>': /(?<=Its first event |unbroken chain since )\d{1,2} [A-Z][a-z]+ \d{4}/g,
  '<wait>': /(?<=Try again in )\d+ (?:second|minute)s?/g,
  '<day>': /\d{4}-\d\d-\d\d/g,
  '<date>': /(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{1,2}(?!\d)/g,
  '<edition>': /(?<=\/assets\/)[0-9a-f]{12}(?=\/)/g,
  // A build calls the browser's modules otherwise than their sources, by which they are recorded.
  ts: /(?<=\/assets\/<edition>\/[a-z]+\.)js\b/g,
}

export type Name = (text: string) => string

export function createNames(): Name {
  const given = new Map<string, string>()
  const counts = new Map<string, number>()

  function nameOf(kind: string, value: string): string {
    const known = given.get(value)
    if (known) return known
    const count = (counts.get(kind) ?? 0) + 1
    counts.set(kind, count)
    given.set(value, `<${kind}-${count}>`)
    return `<${kind}-${count}>`
  }

  return (text) => {
    let named = text
    for (const [kind, pattern] of Object.entries(numbered)) {
      named = named.replace(pattern, (value) => nameOf(kind, value))
    }
    for (const [name, pattern] of Object.entries(unnumbered)) {
      named = named.replace(pattern, name)
    }
    return named
  }
}
