/** `agent-home protect` and `unprotect`: whether only the operator changes a memory. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'

const setting =
  (verb: 'protect' | 'unprotect', done: string) =>
  async (given: Given): Promise<Report> => {
    const [key = ''] = given.args
    const memory = await atHome(given, (home) => home[verb](key), 'operator')
    return { value: { memory }, text: `${key} ${done}.\n` }
  }

export const protectCommand = setting('protect', 'is protected: only the operator changes it')

export const unprotectCommand = setting('unprotect', 'is no longer protected')
