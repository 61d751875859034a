/** Texts that are longer than a memory's. */

/** UTF-8 bytes that one memory's text takes. */
export const TEXT_BYTES = 16_384

/** What one batch takes: operations, and bytes of its body. */
export const BATCH = { operations: 100, bytes: 1_000_000 }

export const bytesOf = (text: string): number => new TextEncoder().encode(text).length

/** Cut between characters, each piece as long as a memory's text may be. */
export function pieces(text: string): string[] {
  const room = new Uint8Array(TEXT_BYTES)
  const found: string[] = []
  for (let at = 0; at < text.length; ) {
    const { read } = new TextEncoder().encodeInto(text.slice(at), room)
    found.push(text.slice(at, at + read))
    at += read
  }
  return found
}
