/** What each program calls its events, sends with them, and takes in return. */
import {
  claudeLine,
  codexLine,
  geminiLine,
  HOOK_CONTEXT,
  type ReadLine,
  withoutBlocks,
} from './transcripts.ts'

/** `before`: before a compaction, after which the session goes on. */
type Kind = 'start' | 'prompt' | 'before' | 'end'

export interface HookClient {
  /** What the program takes no text for is not among them, except for captures. */
  readonly events: Readonly<Record<string, Kind>>
  readonly print: (event: string, text: string) => string
  /** Undefined: the format of its transcript is not known. */
  readonly transcript?: ReadLine
  /** It announces each compaction that it merely considers. */
  readonly announcesOften?: true
}

const asJson = (value: unknown): string => `${JSON.stringify(value)}\n`

const specific = (hookEventName: string, additionalContext: string): string =>
  asJson({ hookSpecificOutput: { hookEventName, additionalContext } })

const LIKE_CLAUDE = {
  SessionStart: 'start',
  UserPromptSubmit: 'prompt',
  PreCompact: 'before',
  SessionEnd: 'end',
} as const

export const hookClients: Readonly<Record<string, HookClient>> = {
  'claude-code': { events: LIKE_CLAUDE, print: specific, transcript: claudeLine },
  codex: { events: LIKE_CLAUDE, print: specific, transcript: codexLine },
  gemini: {
    events: {
      SessionStart: 'start',
      BeforeAgent: 'prompt',
      PreCompress: 'before',
      SessionEnd: 'end',
    },
    print: specific,
    transcript: geminiLine,
    announcesOften: true,
  },
  // A prompt of these two takes no text.
  cursor: {
    events: { sessionStart: 'start', preCompact: 'before', sessionEnd: 'end' },
    print: (_event, text) => asJson({ additional_context: text }),
  },
  vscode: { events: { SessionStart: 'start', PreCompact: 'before', Stop: 'end' }, print: specific },
  // Its plugin passes plain text on.
  opencode: {
    events: {
      ...{ 'session.created': 'start', 'session.compacted': 'start', 'chat.message': 'prompt' },
      ...{ 'experimental.session.compacting': 'before', 'session.deleted': 'end' },
      ...LIKE_CLAUDE,
    },
    print: (_event, text) => text,
  },
}

export interface Payload {
  readonly session: string | undefined
  readonly directory: string | undefined
  readonly prompt: string
  readonly transcript: string | undefined
  /** How the session started, such as `resume`. */
  readonly source: string | undefined
}

/** Systems take no NUL, and no more of it. */
const isPath = (text: string): boolean => text.length <= 4_096 && !text.includes('\0')

/** Throws SyntaxError, or TypeError if it is no object. */
export function payloadIn(text: string): Payload {
  const sent: unknown = JSON.parse(text)
  if (typeof sent !== 'object' || sent === null) throw new TypeError('it is not a JSON object')
  const { workspace_roots: roots, ...fields } = sent as Readonly<Record<string, unknown>>
  const string = (...names: readonly string[]): string | undefined =>
    names.map((name) => fields[name]).find((value) => typeof value === 'string' && value !== '') as
      | string
      | undefined
  const [root]: readonly unknown[] = Array.isArray(roots) ? roots : []
  const named = string('cwd', 'directory') ?? (typeof root === 'string' ? root : undefined)
  return {
    session: string('session_id', 'conversation_id', 'sessionID'),
    directory: named !== undefined && isPath(named) ? named : undefined,
    prompt: withoutBlocks(string('prompt') ?? '', HOOK_CONTEXT),
    transcript: string('transcript_path'),
    source: string('source'),
  }
}
