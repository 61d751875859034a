/** The commands, of which `hook` may take any time: how much it needs is the machine's own affair. */
import { commands } from '../../src/cli/commands.ts'
import { hookCommand } from '../../src/cli/remote/hook/hook.ts'
import { processTimers } from '../../src/timers.ts'

/** The deadline, of 200 ms and more, never passes. */
const patient = {
  ...processTimers,
  stopwatch: () => 0,
  after: (ms: number, run: () => void) => (ms < 200 ? processTimers.after(ms, run) : () => {}),
}

export const patientCommands = commands.map((command) =>
  command.name === 'hook'
    ? {
        ...command,
        load: async (): ReturnType<typeof command.load> => (given, terminal) =>
          hookCommand(given, terminal, patient),
      }
    : command,
)
