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
  /-----BEGIN ([A-Z ]{0,30})PRIVATE KEY-----[^-]*(-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g,
]

/** What is before the secret stays. A value without a digit is more likely code. */
const NAMED = [
  /(\bauthorization["']?\s{0,4}[:=]\s{0,4}["']?(?:bearer|basic|token)\s{1,4})[^\s"'\\]{8,}/gi,
  /(\b[a-z][a-z0-9+.-]{0,20}:\/\/[^\s:/@]{0,100}:)[^\s/@]{1,200}(?=@)/gi,
  /(\b\w{0,40}(?:password|passwd|secret|token|api_?key)\w{0,40}["']?\s{0,4}[:=]\s{0,4}["']?)(?=[\w+/=.~-]{0,60}\d)[\w+/=.~-]{8,}(?![\w(])/gi,
]

export const REDACTED = '[secret removed]'

export const withoutSecrets = (text: string): string => {
  const named = NAMED.reduce((rest, pattern) => rest.replace(pattern, `$1${REDACTED}`), text)
  return TOKENS.reduce((rest, pattern) => rest.replace(pattern, REDACTED), named)
}
