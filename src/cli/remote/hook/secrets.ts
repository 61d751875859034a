/**
 * Secrets that are plain to see, by the formats that their issuers document. Linear in the text:
 * no pattern has two unbounded parts that match the same.
 */
const TOKENS = [
  // Ours.
  /\bah[ao]_[A-Za-z0-9]{20,}/g,
  /\b(gh[pousr]_[A-Za-z0-9]{36,}|github_pat_\w{22,})/g,
  /\bgl(pat|dt|rt|cbt|ptt|soat|ft)-[\w.-]{20,}/g,
  /\b(AKIA|ASIA)[A-Z0-9]{16}\b/g,
  // OpenAI, Anthropic and others.
  /\bsk-[\w-]{20,}/g,
  /\b([rs]k_(live|test)|whsec)_[A-Za-z0-9]{16,}/g,
  /\b(AIza[\w-]{35}|GOCSPX-[\w-]{20,}|ya29\.[\w-]{20,})/g,
  /\bxox[a-z]-[\w-]{10,}|\bxapp-[\w-]{20,}/g,
  /\b(npm_[A-Za-z0-9]{36}|pypi-[\w-]{50,}|hf_[A-Za-z0-9]{30,}|dop_v1_[0-9a-f]{64})/g,
  /\bSG\.[\w-]{16,64}\.[\w-]{16,}/g,
  // JSON Web Tokens.
  /(?<![\w-])[\w-]{13,}\.eyJ[\w-]{10,}\.[\w-]+/g,
]

export const REDACTED = '[secret removed]'

const KEY_BEGINS = /-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----/
const KEY_ENDS = /-----END [A-Z0-9 ]{0,50}-----/

/** Of a key without an end, everything that follows is taken for the key. */
function withoutKeys(text: string): string {
  const [before = '', ...keys] = text.split(KEY_BEGINS)
  const rest = keys.map((key) => {
    const end = KEY_ENDS.exec(key)
    return REDACTED + (end ? key.slice(end.index + end[0].length) : '')
  })
  return before + rest.join('')
}

const NAME = /\b\w{0,40}(?:password|passwd|passphrase|secret|token|api[-_]?key)\w{0,40}/
/** What is so called may be a folder, whose path stays. */
const SHORT_NAME = /\b\w{0,40}(?:pass|pwd)(?!["']?\s{0,4}[:=]\s{0,4}["']?[/~.])/
/** Within a text in JSON, quotes have backslashes. */
const ASSIGNS = /\\{0,3}["']?\s{0,4}[:=]\s{0,4}/
/** A call, a type, a variable, a regular expression or an address. */
const CODE =
  /[\w.$]{1,80}[([<]|\$\w{1,80}(?![^\s"',;)}\]])|\$?[([{<]|\/\^|[a-z][a-z0-9+.-]{0,20}:\/\//
/** How a value begins, and goes on. Without a digit it is more likely code or prose. */
const VALUES = [
  [/"/, /(?=[^"\n]{0,100}\d)(?:[^"\\\n]|\\.){8,1000}/],
  [/'/, /(?=[^'\n]{0,100}\d)(?:[^'\\\n]|\\.){8,1000}/],
  [/\\{1,3}["']/, /(?=[^"'\n]{0,100}\d)[^"'\\\n]{8,1000}/],
  [RegExp(`(?!${CODE.source})`), /(?=[^\s"',;]{0,60}\d)(?:[^\s"',;\\]|\\(?![\snrt"'])){8,1000}/],
] as const

/** What is before the secret stays. A port, or what stands for one, is no password. */
const NAMED = [
  /(\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token)\s{1,4})[^\s"'\\]{8,}/gi,
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@[]{0,100}:)(?!(?:\d{1,5}|port|\$?\{[^\s{}]{1,60}\}|\$\w{1,60})[/?#,])(?:(?!:\/\/)[^\s"'`<>]){1,1000}(?=@)/gi,
  /(\bcurl\b(?:\\\n|[^\n]){0,300}?\s(?:-u|--user)[\s=]{0,2}["']?[^\s:"']{1,100}:)(?!\$)[^\s"']{1,200}/gi,
  ...VALUES.map(([begins, value]) => {
    const before = [`(?:${NAME.source}|${SHORT_NAME.source})`, ASSIGNS.source, begins.source]
    return RegExp(`(${before.join('')})${value.source}`, 'gi')
  }),
]

export const withoutSecrets = (text: string): string => {
  const named = NAMED.reduce(
    (rest, pattern) => rest.replace(pattern, `$1${REDACTED}`),
    withoutKeys(text),
  )
  return TOKENS.reduce((rest, pattern) => rest.replace(pattern, REDACTED), named)
}
