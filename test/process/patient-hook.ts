/** The program's commands, of which `hook` may take any time. */
import { run } from '../../src/cli/run.ts'
import { processTerminal } from '../../src/cli/terminal.ts'
import { patientCommands } from '../cli/patient-hook.ts'

process.exitCode = await run(process.argv.slice(2), processTerminal(), patientCommands)
