/** A conversation of the OpenAI Agents SDK, kept in a home. */
import type { AgentInputItem, Session } from '@openai/agents-core'
import { contend } from '../fitting/contend.ts'
import { fresh, requirePrefix, segment, shown } from '../fitting/names.ts'
import type { AgentHome } from '../index.ts'
import { itemsIn, linesOf } from './items.ts'
import { Log } from './log.ts'

export interface AgentHomeSessionOptions {
  readonly home: AgentHome
  /** Any string: two sessions of one id are the same conversation. */
  readonly sessionId: string
  /** The keys begin so: 1 to 20 characters, `session` unless told. */
  readonly prefix?: string
}

const LONGEST_PREFIX = 20
const LONGEST_READABLE_ID = 60
const MOST_READS = 20

/**
 * A Session whose items survive the process. Runners of one session lose nothing of each other,
 * wherever they run; items longer than a memory's text are spread over several.
 *
 * ```ts
 * const session = new AgentHomeSession({ home, sessionId: 'support-4711' })
 * await run(agent, 'My name is Ann.', { session })
 * ```
 */
export class AgentHomeSession implements Session {
  readonly #sessionId: string
  readonly #log: Promise<Log>

  /** Throws TypeError. */
  constructor({ home, sessionId, prefix = 'session' }: AgentHomeSessionOptions) {
    if (sessionId === '') throw new TypeError('sessionId must not be empty')
    const begin = requirePrefix(prefix, LONGEST_PREFIX)
    this.#sessionId = sessionId
    this.#log = segment(sessionId, LONGEST_READABLE_ID).then(
      (name) => new Log(home, `${begin}.${name}`, { session_id: shown(sessionId) }),
    )
  }

  async getSessionId(): Promise<string> {
    return this.#sessionId
  }

  /** The last `limit` of them, oldest first; all unless told. */
  async getItems(limit?: number): Promise<AgentInputItem[]> {
    if (limit !== undefined && limit <= 0) return []
    const items = await this.#items()
    return limit === undefined ? items : items.slice(-limit)
  }

  /**
   * All of them or none, next to each other; more than about 400 KB in several steps, so that no
   * item is too long. They are added once, also when an answer was lost.
   */
  async addItems(items: AgentInputItem[]): Promise<void> {
    if (items.length === 0) return
    const log = await this.#log
    for (const lines of await log.prepare(linesOf(items, fresh(9)))) {
      await contend(async (isUnsure) => {
        if (isUnsure && (await log.holds(lines))) return
        await log.append(lines)
      }, 'again')
    }
  }

  /** Takes the last one away. Throws OutcomeUnknown where an answer was lost and nobody can tell. */
  async popItem(): Promise<AgentInputItem | undefined> {
    const log = await this.#log
    const popped = await contend(async () => {
      const last = await log.lastLine()
      if (!last) return undefined
      const whole = await log.whole(last.line)
      await log.cut(last)
      return { line: last.line, whole }
    })
    if (!popped) return undefined
    // What stays of its pieces is in nobody's way.
    await log.drop(popped.line).catch(() => {})
    return itemsIn(popped.whole)[0]
  }

  async clearSession(): Promise<void> {
    const log = await this.#log
    await contend(() => log.clear(), 'again')
  }

  async #items(): Promise<AgentInputItem[]> {
    const log = await this.#log
    for (let reads = 1; ; reads++) {
      try {
        return itemsIn(await log.text())
      } catch (error) {
        if (!(error instanceof SyntaxError) || reads === MOST_READS) throw error
      }
    }
  }
}
