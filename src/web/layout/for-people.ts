/** Errors for people: the catalogue's sentences address programs. */
import { catalogue, type ErrorCode, type Problem, problem } from '../../errors.ts'
import { fields } from '../../fields.ts'
import { number, plural } from './words.ts'

interface Words {
  readonly title?: string
  readonly detail?: string
  /** A specific detail is also written for programs. */
  readonly always?: true
  /** Ends with how long to wait. */
  readonly wait?: true
}

const UNREADABLE = {
  title: 'The form is not readable',
  detail: 'Open its page again, and send it from there.',
  always: true,
} as const

const NOTHING_CHANGED = { detail: 'Nothing was changed.', always: true, wait: true } as const

/** Formatted when shown, see `layout/words.ts`. */
const words: Readonly<Partial<Record<ErrorCode, Words>>> = {
  invalid_query: {
    title: 'This address is not valid',
    detail: 'Something in it is not as our pages write it. Begin again from one of them.',
  },
  authorization_invalid: {
    title: 'This program cannot be let in',
    detail:
      'It is not set up right. Nothing was permitted. Go back to it, and add this home again.',
  },
  oauth_unavailable: {
    title: 'Programs cannot be let in by this address',
    detail: 'The operator of this service must give it an address that begins with https first.',
  },
  body_incomplete: { title: 'The form did not arrive', detail: 'Send it again.' },
  unsupported_media_type: UNREADABLE,
  malformed_form: UNREADABLE,
  invalid_body: {
    title: 'Something in the form is not valid',
    detail: 'Go back, correct it, and send the form again.',
  },
  body_too_large: {
    title: 'This is too long',
    detail: 'What was typed is more than one form can hold.',
    always: true,
  },
  invalid_token: {
    detail:
      'Check it for typing errors. If it was replaced, use the one that was shown when it was.',
  },
  wrong_password: {
    detail:
      'There is an account with this address, and this is not its password. Give its password, or another address.',
  },
  not_found: { detail: 'This page does not exist, or no longer does.' },
  malformed_json: {
    title: 'The file is not readable',
    detail: 'It is not what an export of ours holds, or was changed since. Nothing was imported.',
    always: true,
  },
  import_conflict: {
    detail: 'Nothing was imported. Choose whether to leave or to replace what is there.',
    always: true,
  },
  imports_busy: { detail: 'Nothing was imported.', always: true, wait: true },
  memory_not_found: {
    detail: 'It may have another key now, or be erased for good. Look for it in the list.',
  },
  version_not_found: {
    detail:
      'There is no text of this version: it never was, or it is a delete. The history lists what is kept.',
  },
  version_gone: {
    detail: 'It was erased, or gave way to newer ones. The history lists what is kept.',
  },
  key_not_found: { detail: 'It was revoked already. Nothing was changed.' },
  event_not_found: {
    detail: 'No event has this number yet. Choose since when again.',
    always: true,
  },
  event_gone: {
    title: 'Too long ago',
    detail: 'Some of the events since then are not kept any more. Choose a later time.',
    always: true,
  },
  version_conflict: {
    title: 'The memory was written in the meantime',
    detail: 'Nothing was saved. Open it again to see what it holds now.',
  },
  key_taken: {
    detail:
      'Nothing was renamed. A memory is under the new key, or what is kept of one that was deleted: choose another.',
  },
  version_current: {
    title: 'The version that is stored now cannot be erased alone',
    detail: 'Nothing was erased. Leave that version out, or erase the whole memory.',
  },
  batch_conflict: {
    title: 'Some of this cannot be done',
    detail: 'Nothing was changed. Look at what is there now, and choose again.',
  },
  birth_conflict: {
    title: 'This form was used for another agent',
    detail: 'Reload the page to create another.',
  },
  credentials_rotated: {
    title: 'This form made an agent before',
    detail: 'Its tokens were replaced since. You find it among your agents.',
  },
  text_too_large: {
    get detail() {
      return `Nothing was saved. A text holds at most ${number(fields.text.maxBytes)} bytes: shorten it, or split it into several memories.`
    },
    always: true,
  },
  metadata_too_large: {
    get detail() {
      return `Nothing was saved. Metadata holds at most ${number(fields.metadata.maxBytes)} bytes.`
    },
    always: true,
  },
  rate_limited: { title: 'Too much at once', ...NOTHING_CHANGED },
  export_running: {
    detail: 'Wait until it is downloaded. One export of an agent is sent at a time.',
  },
  memory_quota_reached: {
    detail:
      'Nothing was saved, and waiting does not help. Delete memories that are no longer needed, or shorten them.',
  },
  key_quota_reached: { detail: 'Nothing was made. Revoke one that is no longer used.' },
  too_many_failures: {
    title: 'Too many failed attempts',
    detail: 'Too many came from this address.',
    wait: true,
  },
  too_many_wrong_passwords: { detail: 'Someone else may be guessing.', wait: true },
  too_many_sign_ins: { detail: 'Go on in a browser that is signed in already.', wait: true },
  internal: {
    detail:
      'This is our fault. Tell the operator of this service the number below: its log says why.',
  },
  home_disabled: { title: 'The home is closed here', detail: 'Ask the operator of this service.' },
  births_disabled: {
    title: 'No agents are created here now',
    detail: 'Ask the operator of this service.',
  },
  passwords_busy: NOTHING_CHANGED,
  stopping: { title: 'The service is restarting', ...NOTHING_CHANGED },
  storage_unavailable: NOTHING_CHANGED,
  overloaded: { title: 'Too many are asking at once', ...NOTHING_CHANGED },
  exports_busy: NOTHING_CHANGED,
  too_many_streams: NOTHING_CHANGED,
  storage_full: {
    detail:
      'Nothing was saved; what is stored can be read. The operator of this service must free disk space.',
  },
  outcome_unknown: {
    title: 'It may or may not have been saved',
    detail: 'Look at what is there before you send it again.',
  },
}

/** Short waits in seconds, longer ones in minutes. */
function waiting({ extras }: Problem): string {
  const seconds = Number(extras.headers?.['Retry-After'])
  if (!(seconds > 0)) return ' Try again in a moment.'
  return seconds < 90
    ? ` Try again in ${plural(seconds, 'second')}.`
    : ` Try again in ${plural(Math.ceil(seconds / 60), 'minute')}.`
}

export const titleFor = ({ code }: Pick<Problem, 'code'>): string =>
  words[code]?.title ?? catalogue[code].title

/** The page's own sentence takes precedence. */
export function sentenceFor(refusal: Problem): string {
  const { detail, always, wait } = words[refusal.code] ?? {}
  const own = always || wait ? undefined : refusal.extras.detail
  const said = own ?? detail ?? catalogue[refusal.code].detail
  return wait ? said + waiting(refusal) : said
}

/** A field's error, with the field's label as its subject. */
export function withFaults(refusal: Problem, faults: Readonly<Record<string, string>>): Problem {
  const { errors } = refusal.extras
  if (!errors) return refusal
  return problem(refusal.code, {
    ...refusal.extras,
    errors: errors.map((fault) => ({
      ...fault,
      message: faults[fault.pointer.slice(1)] ?? fault.message,
    })),
  })
}
