/** Says that a command waits for a home: for how long, and why. */
import type { AgentHomeOptions, HomeError } from 'agent-home-client'
import type { Timers } from '../../timers.ts'
import type { Notice } from '../command.ts'

/** A wait up to this long is not worth a word. */
const SILENT_MS = 1_000

const seconds = (ms: number): number => Math.ceil(ms / 1_000)

const IN_RETRY_AFTER = /the number of seconds in Retry-After/

/** The error's message with the seconds that the home asks for, which are in a header. */
export function withSeconds({ message, retryAfter }: HomeError): string {
  if (retryAfter === undefined) return message
  const wait = `${retryAfter} s`
  return IN_RETRY_AFTER.test(message)
    ? message.replace(IN_RETRY_AFTER, wait)
    : `${message} Wait ${wait}.`
}

/** Options for a client: it says when it waits for longer than a second in all. */
export function sayingWaits(
  url: string,
  notice: Notice,
  { after }: Pick<Timers, 'after'>,
): Pick<AgentHomeOptions, 'fetch' | 'onRetry'> {
  let waitedMs = 0
  const slow = () => notice(`Waiting for an answer from ${url}.`, { code: 'waiting' })
  return {
    async fetch(...request) {
      const cancel = after(SILENT_MS, slow)
      try {
        const response = await globalThis.fetch(...request)
        if (response.ok) waitedMs = 0
        return response
      } finally {
        cancel()
      }
    },
    onRetry({ error, waitMs, tries }) {
      waitedMs += waitMs
      if (waitedMs < SILENT_MS) return
      const wait = seconds(waitMs)
      const sentence = `Waiting ${wait} s, then trying again (Ctrl+C ends it): ${withSeconds(error)}`
      notice(sentence, { code: 'waiting', seconds: wait, reason: error.code, tries })
    },
  }
}
