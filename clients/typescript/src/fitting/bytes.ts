/** Bytes inside JSON. */

const binaryOf = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => String.fromCharCode(byte)).join('')

export const toBase64 = (bytes: Uint8Array): string => btoa(binaryOf(bytes))

export const fromBase64 = (text: string): Uint8Array =>
  Uint8Array.from(atob(text), (character) => character.charCodeAt(0))
