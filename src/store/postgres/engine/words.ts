/** Words in PostgreSQL's text search: split by us, so that its parser has no say in it. */
import { wordsToFind } from '../../words.ts'
import { type Ask, statement } from './connections.ts'

/** A text's words, as `storedWords` takes them. */
export const joinedWords = (text: string): string => wordsToFind(text).join(' ')

/** The expression that stores joined words. */
export const storedWords = (joined: string): string =>
  `array_to_tsvector(string_to_array(${joined}, ' '))`

/** A text has up to 128 KiB. */
const BATCH = 100

const textsAfter = statement<{ id: string; text: string }>(
  'texts_after',
  `SELECT id, text FROM entries WHERE id > $1 AND text <> '' ORDER BY id LIMIT ${BATCH}`,
)

/** Most texts have the words that they had. */
const replaceWords = statement(
  'replace_words',
  `UPDATE entries e SET words = ${storedWords('split.words')}
   FROM unnest($1::TEXT[], $2::TEXT[]) AS split (id, words)
   WHERE e.id = split.id AND strip(e.words) <> ${storedWords('split.words')}`,
)

/** Words that were split otherwise would no longer be found. */
export async function splitAnew(ask: Ask): Promise<void> {
  for (let after = ''; ; ) {
    const texts = await ask(textsAfter, after)
    const last = texts.at(-1)
    if (!last) return
    const words = texts.map(({ text }) => joinedWords(text))
    await ask(
      replaceWords,
      texts.map(({ id }) => id),
      words,
    )
    after = last.id
  }
}
