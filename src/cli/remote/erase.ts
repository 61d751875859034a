/** `agent-home erase`: erases texts for good. */
import type { Given, Report } from '../command.ts'
import { usage } from '../failure.ts'
import { atHome } from './at-home.ts'
import { versionGiven } from './versions.ts'

/** Permanent, so it must be named. */
function chosen({ flags, options: { versions } }: Given): 'all' | 'history' | number[] {
  const asked = [flags.has('all'), flags.has('history'), versions !== undefined]
  if (asked.filter(Boolean).length !== 1) throw usage('Give one of --all, --history, --versions.')
  if (versions === undefined) return flags.has('all') ? 'all' : 'history'
  return versions.split(',').map((each) => versionGiven('--versions', each) ?? 0)
}

export async function eraseCommand(given: Given): Promise<Report> {
  const [key = ''] = given.args
  const which = chosen(given)
  const erased = await atHome(given, (home) => home.erase(key, which), 'operator')
  const count = erased.versions.length
  const what = count === 1 ? '1 version' : `${count} versions`
  return { value: { erased }, text: `${what} of ${key} erased for good.\n` }
}
