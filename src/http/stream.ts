/** Text pieces -> a byte stream that is pulled, so a slow reader holds back its source. */

/** A reader that takes nothing for this long is dropped: it holds a snapshot open. */
const STALL_LIMIT_MS = 30_000

export function streamText(pieces: AsyncGenerator<string>): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let stalled: NodeJS.Timeout | undefined
  const end = async () => {
    clearTimeout(stalled)
    await pieces.return(undefined)
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stalled)
        const { done, value } = await pieces.next()
        if (done) return controller.close()
        controller.enqueue(encoder.encode(value))
        stalled = setTimeout(() => {
          controller.error(new Error('the reader stalled'))
          void end()
        }, STALL_LIMIT_MS)
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}
