/** Asks before a command destroys or revokes something. */
import type { Arguments, Given } from './command.ts'
import { EXIT } from './exit-codes.ts'
import { Failure } from './failure.ts'
import type { Terminal } from './terminal.ts'

const unconfirmed = (message: string): Failure =>
  new Failure(EXIT.usage, message, { facts: { code: 'not_confirmed' } })

/** Without a terminal nobody can be asked: a script says `--yes`. */
export const confirming =
  ({ flags }: Arguments, { isTyped, ask }: Terminal): Given['confirm'] =>
  async (question) => {
    if (flags.has('yes')) return
    if (!isTyped) {
      throw unconfirmed(`${question} Nothing was done: without a terminal, confirm with --yes.`)
    }
    const answer = await ask(`${question} Type yes to continue: `)
    if (!/^y(es)?$/i.test(answer.trim())) throw unconfirmed('Nothing was done.')
  }
