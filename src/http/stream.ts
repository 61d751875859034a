/** Text pieces -> a byte stream that is pulled, so a slow reader holds back its source. */

/** A reader that takes nothing for this long is dropped: it holds a snapshot open. */
const STALL_LIMIT_MS = 30_000

/** `close` is called once the stream ends, however it ends. */
export function streamText(
  pieces: AsyncIterable<string>,
  close: () => void,
): ReadableStream<Uint8Array> {
  const source = pieces[Symbol.asyncIterator]()
  const encoder = new TextEncoder()
  let stalled: NodeJS.Timeout | undefined
  const end = () => {
    clearTimeout(stalled)
    close()
  }
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        clearTimeout(stalled)
        try {
          const { done, value } = await source.next()
          if (done) {
            end()
            return controller.close()
          }
          controller.enqueue(encoder.encode(value))
        } catch (error) {
          end()
          throw error
        }
        stalled = setTimeout(() => {
          controller.error(new Error('the reader stalled'))
          end()
        }, STALL_LIMIT_MS)
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
}
