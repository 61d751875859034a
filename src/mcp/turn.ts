/** A message being handled. */
import type { Problem } from '../errors.ts'
import type { Home } from '../home/home.ts'
import type { Identity } from '../store/port/home.ts'
import type { Message } from './message.ts'

export interface Turn {
  readonly home: Home
  /** The client as it is counted for limits. */
  readonly client: string
  readonly identity: Identity
  readonly message: Message
  readonly barred: Problem | undefined
  /** Called with an internal error, which fails the whole request. */
  readonly fail: (error: unknown) => void
  /** Called with the error of a tool, which becomes its result. */
  readonly refuse: (refusal: Problem) => void
}
