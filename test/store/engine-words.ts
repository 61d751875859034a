/** Texts of any kind, and what FTS5's own tokenizer makes of them. */
import { DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { anyCharacter } from '../any-character.ts'

const from = (first: number, last: number) =>
  fc.integer({ min: first, max: last }).map((c) => String.fromCodePoint(c))

/** Scripts that combine, and some of what lies between them. */
const character = fc.oneof(
  from(0x20, 0x7e),
  from(0xa0, 0x24f),
  from(0x1e00, 0x1fff),
  fc.constantFrom('i\u0307', 'ß', 'ẞ', 'ς', 'İ', 'K', 'ﬁ', 'e\u0301', 'ế', 'ǖ', 'й', 'и\u0306'),
  from(0x300, 0x36f),
  fc.constantFrom('\u0e31', '\u20dd', '\u200d', '\ufe0f', '\u00ad', '\u0345', '\u05b0', '\u3099'),
  from(0x370, 0x5ff),
  from(0x600, 0x6ff),
  from(0x900, 0x97f),
  from(0xe00, 0xe7f),
  from(0x1100, 0x11ff),
  from(0xac00, 0xd7a3),
  from(0x3040, 0x30ff),
  from(0x1f300, 0x1faff),
  anyCharacter.filter((c) => c !== '\0'),
)

export const anyText = fc
  .array(character, { maxLength: 40 })
  .map((characters) => characters.join(''))

/** The words of each text, in their order. */
export function engineWords(texts: Iterable<string>): string[][] {
  const db = new DatabaseSync(':memory:')
  db.exec(`CREATE VIRTUAL TABLE texts USING fts5 (text, content = '');
    CREATE VIRTUAL TABLE words USING fts5vocab (texts, 'instance'); BEGIN`)
  const insert = db.prepare('INSERT INTO texts (rowid, text) VALUES (?, ?)')
  const found = Array.from(texts, (text, row): string[] => {
    insert.run(row, text)
    return []
  })
  const words = db.prepare('SELECT doc, offset, term FROM words')
  for (const { doc, offset, term } of words.iterate()) {
    const row = found[Number(doc)]
    if (row) row[Number(offset)] = String(term)
  }
  db.close()
  return found
}
