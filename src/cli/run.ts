/** Runs a command line and returns the exit code. */
import type { Arguments, Command, Notice, Report } from './command.ts'
import { commands } from './commands.ts'
import { COMPLETE, complete } from './completion.ts'
import { confirming } from './confirm.ts'
import { EXIT, type Exit } from './exit-codes.ts'
import { errorText } from './failure.ts'
import { parse } from './parse.ts'
import type { Terminal } from './terminal.ts'

const noticeOn =
  ({ tell }: Terminal, asJson: boolean): Notice =>
  (notice, facts) =>
    tell(`${asJson ? JSON.stringify({ notice, ...facts }) : notice}\n`)

function show({ say, tell }: Terminal, report: Report, asJson: boolean): void {
  if (asJson) say(`${JSON.stringify(report.value)}\n`)
  else say(report.text)
  if (report.note !== undefined && !asJson) tell(report.note)
}

async function execute(command: Command, given: Arguments, terminal: Terminal): Promise<Exit> {
  const asJson = given.flags.has('json')
  const work = await command.load()
  const report = await work(
    { ...given, notice: noticeOn(terminal, asJson), confirm: confirming(given, terminal) },
    terminal,
  )
  if (report) show(terminal, report, asJson)
  return report?.exit ?? EXIT.done
}

/** Whether the words ask for JSON, whatever else is wrong with them. */
const asksForJson = (words: readonly string[]): boolean => {
  const end = words.indexOf('--')
  return (end < 0 ? words : words.slice(0, end)).includes('--json')
}

export async function run(
  words: readonly string[],
  terminal: Terminal,
  table: readonly Command[] = commands,
): Promise<Exit> {
  const exit = await runCommand(words, terminal, table)
  return table.some(({ name, neverFails }) => neverFails && name === words[0]) ? EXIT.done : exit
}

async function runCommand(
  words: readonly string[],
  terminal: Terminal,
  table: readonly Command[],
): Promise<Exit> {
  if (words[0] === COMPLETE) {
    terminal.say(complete(words.slice(1), table))
    return EXIT.done
  }
  const asJson = asksForJson(words)
  try {
    const parsed = parse(words, table, terminal, asJson)
    if ('exit' in parsed) return parsed.exit
    return await execute(parsed.command, parsed.given, terminal)
  } catch (error) {
    const { text, exit } = await errorText(error, asJson)
    terminal.tell(text)
    return exit
  }
}
