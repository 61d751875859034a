/** `agent-home pause` and `activate`: stops an agent, and lets it continue. */
import type { Given, Report } from '../command.ts'
import { atHome } from './at-home.ts'

const setting =
  (verb: 'pause' | 'activate') =>
  async (given: Given): Promise<Report> => {
    const { profile } = await atHome(given, (home) => home[verb](), 'operator')
    return { value: { profile }, text: `${profile.name} is ${profile.status}.\n` }
  }

export const pauseCommand = setting('pause')

export const activateCommand = setting('activate')
