/** Parses a command line. */
import { CommanderError, Command as Parser, Option as ParserOption } from 'commander'
import { VERSION } from '../version.ts'
import type { Arguments, Command, Option, Parameter } from './command.ts'
import { EXIT, type Exit } from './exit-codes.ts'
import { type Failure, usage } from './failure.ts'
import type { Terminal } from './terminal.ts'

type Parsed =
  | { readonly command: Command; readonly given: Arguments }
  /** Help, the version or an error was printed. */
  | { readonly exit: Exit }

const INCOMPLETE = 'The command is incomplete: --help lists the commands.'

const JSON_OPTION: Option = { name: 'json', summary: 'print JSON' }

const YES_OPTION: Option = { name: 'yes', summary: 'do not ask for confirmation' }

export const optionsOf = ({ options = [], destroys }: Command): readonly Option[] => [
  ...options,
  ...(destroys ? [YES_OPTION] : []),
  JSON_OPTION,
]

const argumentOf = ({ name, optional }: Parameter): string => (optional ? `[${name}]` : `<${name}>`)

function parserOption({ name, value, summary, choices, required }: Option): ParserOption {
  const option = new ParserOption(`--${name}${value ? ` <${value}>` : ''}`, summary)
  if (choices) option.choices(choices)
  return option.makeOptionMandatory(required === true)
}

function givenOf(command: Command, args: readonly string[], parser: Parser): Arguments {
  const options: Record<string, string> = {}
  const flags = new Set<string>()
  for (const each of optionsOf(command)) {
    const value: unknown = parser.getOptionValue(parserOption(each).attributeName())
    if (value === true) flags.add(each.name)
    else if (typeof value === 'string') options[each.name] = value
  }
  return { args, options, flags }
}

/** The parser of a first word, created on first use, which parses the second. */
function parentOf(root: Parser, words: readonly string[], group: string): Parser {
  const [first, second] = words
  if (first === undefined || second === undefined) return root
  const found = root.commands.find((each) => each.name() === first)
  const parent = found ?? root.command(first).helpGroup(group)
  return parent.summary([parent.summary(), second].filter(Boolean).join(', '))
}

function add(root: Parser, command: Command, chosen: (given: Arguments) => void): void {
  const words = command.name.split(' ')
  const parser = parentOf(root, words, command.group).command(words.at(-1) ?? '')
  if (words.length === 1) parser.helpGroup(command.group)
  parser.summary(command.summary).description(command.details ?? command.summary)
  for (const each of command.parameters ?? []) parser.argument(argumentOf(each))
  for (const each of optionsOf(command)) parser.addOption(parserOption(each))
  parser.action(() => {
    const args = (command.parameters ?? []).map((_, at) => parser.args[at])
    chosen(givenOf(command, args as string[], parser))
  })
}

function rootParser({ say, tell }: Terminal, asJson: boolean): Parser {
  return new Parser('agent-home')
    .description('A private home for AI agents: versioned memories, and an open gateway.')
    .usage('[command] [options]')
    .version(VERSION)
    .configureOutput({ writeOut: say, writeErr: asJson ? () => {} : tell })
    .helpCommand('help [command]', 'describe a command')
    .configureHelp({ subcommandTerm: (each) => each.name() })
    .showHelpAfterError('Use --help for a list of commands and options.')
    .exitOverride()
}

/** The commands of the first word; all of them where it names none, for help and suggestions. */
function namedBy([first]: readonly string[], table: readonly Command[]): readonly Command[] {
  const named = table.filter(({ name }) => name.split(' ')[0] === first)
  return named.length > 0 ? named : table
}

/** Every command takes `--json`: where it is unknown, the words before it are none. */
const isIncomplete = (code: string, message: string): boolean =>
  code === 'commander.help' || message.includes("unknown option '--json'")

/** The sentence of the parser, of which `(outputHelp)` is none. */
const usageOf = ({ code, message }: CommanderError): Failure =>
  usage(isIncomplete(code, message) ? INCOMPLETE : message.replace(/^error: /, ''))

/** Prints the error, or the requested help. With `asJson` it throws Failure instead of printing. */
export function parse(
  words: readonly string[],
  table: readonly Command[],
  terminal: Terminal,
  asJson: boolean,
): Parsed {
  let parsed: Parsed | undefined
  const root = rootParser(terminal, asJson)
  for (const command of namedBy(words, table)) {
    add(root, command, (given) => {
      parsed = { command, given }
    })
  }
  try {
    root.parse(words, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode === 0) return { exit: EXIT.done }
    if (asJson) throw usageOf(error)
    return { exit: EXIT.usage }
  }
  return parsed ?? { exit: EXIT.usage }
}
