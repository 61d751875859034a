/** Ids of requests: unique without asking for randomness each time. */
export function requestIds(random: (bytes: number) => Uint8Array): () => string {
  const prefix = Buffer.from(random(6)).toString('hex')
  let count = 0
  return () => `${prefix}-${(++count).toString(36)}`
}
