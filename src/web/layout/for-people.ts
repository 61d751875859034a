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
  detail: 'Reload its page, and send it from there.',
  always: true,
} as const

const NOTHING_CHANGED = { detail: 'Nothing was changed.', always: true, wait: true } as const

/** Formatted when shown, see `layout/words.ts`. */
const words: Readonly<Partial<Record<ErrorCode, Words>>> = {
  invalid_query: {
    title: 'This address is not valid',
    detail: 'It was mistyped or has been changed. Start again from one of our pages.',
  },
  authorization_invalid: {
    title: 'This program cannot be let in',
    detail:
      'It is not set up correctly. Nothing was permitted. Go back to it, and add this home again.',
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
    detail: 'The text is longer than one form can hold.',
    always: true,
  },
  invalid_token: {
    detail: 'Check it for typing errors. If it was replaced, use the new one.',
  },
  wrong_password: {
    detail:
      'An account with this address exists, and this is not its password. Enter its password, or use another address.',
  },
  not_found: { detail: 'This page does not exist, or no longer does.' },
  malformed_json: {
    title: 'The file is not readable',
    detail: 'It is not one of our exports, or it was changed. Nothing was imported.',
    always: true,
  },
  import_conflict: {
    detail: 'Nothing was imported. Choose whether to keep or to replace the existing memories.',
    always: true,
  },
  imports_busy: { detail: 'Nothing was imported.', always: true, wait: true },
  memory_not_found: {
    detail: 'It may have a new key, or it was erased for good. Look for it in the list.',
  },
  version_not_found: {
    detail:
      'This version has no text: it never existed, or it is a deletion. The history lists the kept versions.',
  },
  version_gone: {
    detail:
      'It was erased, or pruned to make room for newer ones. The history lists the kept versions.',
  },
  key_not_found: { detail: 'It was already revoked. Nothing was changed.' },
  event_not_found: {
    detail: 'No event has this number yet. Choose since when again.',
    always: true,
  },
  event_gone: {
    title: 'Too long ago',
    detail: 'Some of the events since then are no longer kept. Choose a later time.',
    always: true,
  },
  version_conflict: {
    title: 'The memory was written in the meantime',
    detail: 'Nothing was saved. Open it again to see its current text.',
  },
  key_taken: {
    detail:
      'Nothing was renamed. The new key has a memory, or kept versions of a deleted one: choose another.',
  },
  version_current: {
    title: 'The current version cannot be erased alone',
    detail: 'Nothing was erased. Leave that version out, or erase the whole memory.',
  },
  batch_conflict: {
    title: 'Some of this cannot be done',
    detail: 'Nothing was changed. Check what is stored now, and choose again.',
  },
  birth_conflict: {
    title: 'This form was used for another agent',
    detail: 'Reload the page to create another.',
  },
  credentials_rotated: {
    title: 'This form has already created an agent',
    detail: 'Its tokens have been replaced since. It is among your agents.',
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
    detail: 'Wait until it has been downloaded. Only one export of an agent runs at a time.',
  },
  memory_quota_reached: {
    detail:
      'Nothing was saved, and waiting does not help. Delete memories that are no longer needed, or shorten them.',
  },
  key_quota_reached: { detail: 'Nothing was created. Revoke a key that is no longer used.' },
  too_many_failures: {
    title: 'Too many failed attempts',
    detail: 'Too many came from this address.',
    wait: true,
  },
  too_many_wrong_passwords: { detail: 'Someone else may be guessing.', wait: true },
  too_many_sign_ins: { detail: 'Continue in a browser that is already signed in.', wait: true },
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
  overloaded: { title: 'The service is busy', ...NOTHING_CHANGED },
  exports_busy: NOTHING_CHANGED,
  too_many_streams: NOTHING_CHANGED,
  storage_full: {
    detail:
      'Nothing was saved; stored data can still be read. The operator of this service must free disk space.',
  },
  outcome_unknown: {
    title: 'It may or may not have been saved',
    detail: 'Check what is stored before you send it again.',
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
