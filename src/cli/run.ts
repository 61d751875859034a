/** Runs a command line and returns the exit code. */
import type { Command, Report } from './command.ts'
import { commands } from './commands.ts'
import { COMPLETE, complete } from './completion.ts'
import { EXIT, type Exit } from './exit-codes.ts'
import { explain } from './failure.ts'
import { parse } from './parse.ts'
import type { Terminal } from './terminal.ts'

function show({ say, tell }: Terminal, report: Report, asJson: boolean): void {
  if (asJson) say(`${JSON.stringify(report.value)}\n`)
  else say(report.text)
  if (report.note !== undefined && !asJson) tell(report.note)
}

export async function run(
  words: readonly string[],
  terminal: Terminal,
  table: readonly Command[] = commands,
): Promise<Exit> {
  if (words[0] === COMPLETE) {
    terminal.say(complete(words.slice(1), table))
    return EXIT.done
  }
  const parsed = parse(words, table, terminal)
  if ('exit' in parsed) return parsed.exit
  const { command, given } = parsed
  const asJson = given.flags.has('json')
  try {
    const execute = await command.load()
    const report = await execute(given, terminal)
    if (report) show(terminal, report, asJson)
    return report?.exit ?? EXIT.done
  } catch (error) {
    const { message, exit, facts } = await explain(error)
    const told = { error: message, ...facts, exit }
    terminal.tell(asJson ? `${JSON.stringify(told)}\n` : `${message}\n`)
    return exit
  }
}
