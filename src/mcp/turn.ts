/** One message on its way. */
import type { Problem } from '../errors.ts'
import type { Home } from '../home/home.ts'
import type { Identity } from '../store/port/home.ts'
import type { Message } from './message.ts'

export interface Turn {
  readonly home: Home
  /** As clients are counted. */
  readonly client: string
  readonly identity: Identity
  readonly message: Message
  readonly barred: Problem | undefined
  /** Told of what is no refusal but a failure: the whole request fails with it. */
  readonly fail: (error: unknown) => void
  /** Told of what a tool is refused for, which is its result and no refusal of the request. */
  readonly refuse: (refusal: Problem) => void
}
