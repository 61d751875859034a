/** PostgreSQL's protocol, as far as a pooler needs it: see "Frontend/Backend Protocol" in its manual. */

const SSL_REQUEST = 80_877_103

const VERSION_3 = 3 << 16

const int32 = (value: number): Buffer => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** A letter, a length, and numbers or texts. */
export function message(type: string, ...parts: readonly (number | string)[]): Buffer {
  const body = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : int32(part)))
  const length = body.reduce((sum, part) => sum + part.length, 4)
  return Buffer.concat([Buffer.from(type), int32(length), ...body])
}

export const fatal = (sentence: string): Buffer =>
  message('E', 'SFATAL\0', 'C08P01\0', `M${sentence}\0`, '\0')

/** Cuts a stream into messages, and tells each one's letter. */
export function messages(take: (type: string, whole: Buffer) => void): (chunk: Buffer) => void {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    rest = Buffer.concat([rest, chunk])
    while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
      const whole = rest.subarray(0, rest.readInt32BE(1) + 1)
      rest = rest.subarray(whole.length)
      take(whole.toString('latin1', 0, 1), whole)
    }
  }
}

/** What a client says before its first message: a question about TLS, or who it is. */
export function startUpOf(packet: Buffer): 'ssl' | Map<string, string> {
  const code = packet.readInt32BE(4)
  if (code === SSL_REQUEST) return 'ssl'
  if (code !== VERSION_3) throw new Error(`${code} starts nothing that is known here`)
  const words = packet.toString('utf8', 8).split('\0')
  const parameters = new Map<string, string>()
  for (let i = 0; words[i]; i += 2) parameters.set(words[i] ?? '', words[i + 1] ?? '')
  return parameters
}
