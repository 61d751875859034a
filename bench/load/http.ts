/** HTTP/1.1 for the generator: just enough to keep a connection busy. */

const HEADERS_END = '\r\n\r\n'
const LAST_CHUNK = Buffer.from('0\r\n\r\n')
const ZERO = 48

/** Lengths of answers by their headers: most differ only in what is not counted. */
const contentLength = /content-length: *(\d+)/i

export function frameHttp(received: Buffer): number {
  const end = received.indexOf(HEADERS_END)
  if (end < 0) return -1
  const length = contentLength.exec(received.toString('latin1', 0, end))?.[1]
  if (length === undefined) return frameChunks(received, end)
  const whole = end + HEADERS_END.length + Number(length)
  return received.length >= whole ? whole : -1
}

/** One answer is awaited at a time, so the last chunk ends what was received. */
function frameChunks(received: Buffer, headersEnd: number): number {
  const last = received.subarray(-LAST_CHUNK.length)
  return received.length > headersEnd + LAST_CHUNK.length && last.equals(LAST_CHUNK)
    ? received.length
    : -1
}

export const statusOf = (answer: Buffer): number =>
  ((answer[9] ?? ZERO) - ZERO) * 100 +
  ((answer[10] ?? ZERO) - ZERO) * 10 +
  ((answer[11] ?? ZERO) - ZERO)

/** Whole only for answers with a Content-Length. */
export const bodyOf = (answer: Buffer): string => {
  const text = answer.toString('utf8')
  return text.slice(text.indexOf(HEADERS_END) + HEADERS_END.length)
}

/** The first group of a pattern in an answer. */
export const within = (answer: Buffer, pattern: RegExp): string | undefined =>
  pattern.exec(answer.toString('latin1'))?.[1]

export const get = (path: string, headers = ''): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n`

/** Bodies are ASCII here. */
export const send = (method: string, path: string, body: string, headers = ''): string =>
  `${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}Content-Type: application/json\r\n` +
  `Content-Length: ${body.length}\r\n\r\n${body}`
