/** The parts of forms: what was typed comes back as text, with what is wrong about it. */
import { describe, expect, test } from 'vitest'
import { problem } from '../../src/errors.ts'
import {
  checkbox,
  hidden,
  input,
  refusalNote,
  select,
  type Typed,
  textarea,
  untouched,
} from '../../src/web/layout/fields.ts'
import { escaped, fieldsIn } from './markup.ts'

const HOSTILE = `</textarea>"'><b>&amp;`

const refused = (pointer: string, values = {}): Typed => ({
  values,
  refusal: problem('invalid_body', { errors: [{ pointer, message: 'must be <short>' }] }),
})

const markup = async (part: unknown): Promise<string> => String(await part)

/** The attributes of the control, in the order in which they stand. */
const control = async (part: unknown, name = 'input'): Promise<string> =>
  new RegExp(`<${name} ([^>]*)>`).exec(await markup(part))?.[1] ?? ''

const symbols = [
  { value: '', label: 'none' },
  { value: 'vir', label: 'Vir & <flow>' },
]

describe('a field of one line', () => {
  const field = { name: 'tags', label: 'Tags' }

  test('is a required text that no browser fills in, unless it is told', async () => {
    expect(await control(input(field, untouched))).toBe(
      'id="tags" name="tags" type="text" value="" autocomplete="off" dir="auto" required',
    )
    const told = { type: 'email', autocomplete: 'username', required: false } as const
    expect(await control(input({ ...field, ...told }, untouched))).toBe(
      'id="tags" name="tags" type="email" value="" autocomplete="username"',
    )
  })

  test('holds what was typed into it, unless it is a secret', async () => {
    const typed = { values: { tags: HOSTILE } }
    expect(fieldsIn(await markup(input(field, typed)))).toEqual({ tags: HOSTILE })
    expect(fieldsIn(await markup(input({ ...field, type: 'password' }, typed)))).toEqual({
      tags: '',
    })
  })

  test('is labelled, and names its hint and its fault', async () => {
    const plain = await markup(input(field, untouched))
    expect(plain).toContain('<label for="tags">Tags</label>')
    expect(plain).not.toMatch(/hint|fault|aria-/)
    const hinted = input({ ...field, hint: 'One & another' }, untouched)
    expect(await markup(hinted)).toContain('<p class="hint" id="tags-hint">One &amp; another</p>')
    expect(await control(hinted)).toMatch(/ required aria-describedby="tags-hint"$/)
    const faulty = input(field, refused('/tags'))
    expect(await markup(faulty)).toContain(
      '<p class="fault" id="tags-fault">This must be &lt;short&gt;.</p>',
    )
    expect(await control(faulty)).toMatch(/ aria-invalid="true" aria-describedby="tags-fault"$/)
    const both = input({ ...field, hint: 'One' }, refused('/tags'))
    expect(await control(both)).toMatch(/ aria-describedby="tags-hint tags-fault"$/)
  })

  test('is at fault for a part of itself, and not for a field whose name begins alike', async () => {
    expect(await markup(input(field, refused('/tags/3')))).toContain('tags-fault')
    expect(await markup(input(field, refused('/tagsoup')))).not.toContain('tags-fault')
    expect(await markup(input(field, refused('/other/tags')))).not.toContain('tags-fault')
  })
})

describe('a field of many lines', () => {
  const field = { name: 'text', label: 'Text', rows: 4 }

  test.each(['', 'plain', '\nbegins with an empty line', '\n\n', HOSTILE])(
    'holds %j exactly',
    async (text) => {
      const shown = await markup(textarea(field, { values: { text } }))
      expect(shown).toContain(`>\n${escaped(text)}</textarea>`)
    },
  )

  test('is empty before anything was typed', async () => {
    expect(await markup(textarea(field, untouched))).toContain('>\n</textarea>')
  })

  test('is required unless it is told, and names its hint and its fault', async () => {
    expect(await control(textarea(field, untouched), 'textarea')).toBe(
      'id="text" name="text" rows="4" spellcheck="false" autocomplete="off" dir="auto" required',
    )
    const optional = textarea({ ...field, required: false, hint: 'Long' }, refused('/text'))
    expect(await control(optional, 'textarea')).toBe(
      'id="text" name="text" rows="4" spellcheck="false" autocomplete="off" dir="auto" aria-invalid="true" aria-describedby="text-hint text-fault"',
    )
    expect(await markup(optional)).toMatch(/id="text-hint">Long.* id="text-fault">This must/s)
  })
})

describe('a choice', () => {
  const field = { name: 'symbol', label: 'Symbol', choices: symbols }

  test('has every option as text, and the one that was chosen is selected', async () => {
    expect(await markup(select(field, { values: { symbol: 'vir' } }))).toContain(
      '<option value="">none</option><option value="vir" selected>Vir &amp; &lt;flow&gt;</option>',
    )
    expect(await markup(select(field, untouched))).not.toContain('selected')
  })

  test('names its hint and its fault', async () => {
    expect(await control(select(field, untouched), 'select')).toBe('id="symbol" name="symbol"')
    const faulty = select({ ...field, hint: 'Any' }, refused('/symbol'))
    expect(await control(faulty, 'select')).toMatch(/describedby="symbol-hint symbol-fault"$/)
    expect(await markup(faulty)).toMatch(/id="symbol-hint">Any.* id="symbol-fault">This must/s)
  })
})

describe('an assent', () => {
  const field = { name: 'understood', label: 'It stops <now>.' }
  const attributes = 'type="checkbox" id="understood" name="understood" value="yes" required'

  test('is given again where it was given', async () => {
    expect(await control(checkbox(field, untouched))).toBe(attributes)
    expect(await control(checkbox(field, { values: { understood: 'yes' } }))).toBe(
      `${attributes} checked`,
    )
  })

  test('names its fault, and is labelled', async () => {
    const faulty = checkbox(field, refused('/understood'))
    expect(await control(faulty)).toBe(
      `${attributes} aria-invalid="true" aria-describedby="understood-fault"`,
    )
    expect(await markup(faulty)).toContain('<label for="understood">It stops &lt;now&gt;.</label>')
    expect(await markup(faulty)).toContain('id="understood-fault">This must be &lt;short&gt;.')
  })
})

test('a hidden value is escaped', async () => {
  expect(await markup(hidden('key', HOSTILE))).toBe(
    `<input type="hidden" name="key" value="${escaped(HOSTILE)}">`,
  )
})

test('a form says once why it was refused: by its fields, or in a sentence', async () => {
  expect(await markup(refusalNote(untouched))).toBe('')
  expect(await markup(refusalNote(refused('/text')))).toContain('role="alert"><p>Fix the fields')
  const refusal = problem('wrong_password', { detail: 'Not <that>.' })
  expect(await markup(refusalNote({ values: {}, refusal }))).toContain('<p>Not &lt;that&gt;.</p>')
})
