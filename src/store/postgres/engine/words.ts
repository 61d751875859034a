/** Words for PostgreSQL's text search, split by the program instead of its parser. */
import { wordsToFind } from '../../words.ts'
import { type Ask, statement } from './connections.ts'

/** The words of a text, for `storedWords`. */
export const joinedWords = (text: string): string => wordsToFind(text).join(' ')

/** The SQL expression that stores them. */
export const storedWords = (joined: string): string =>
  `array_to_tsvector(string_to_array(${joined}, ' '))`

/** A text has up to 128 KiB. */
const BATCH = 100

const textsAfter = statement<{ id: string; text: string }>(
  `SELECT id, text FROM entries WHERE id > $1 AND text <> '' ORDER BY id LIMIT ${BATCH}`,
)

/** Most texts keep their words. */
const replaceWords = statement(`
  UPDATE entries e SET words = ${storedWords('split.words')}
  FROM unnest($1::TEXT[], $2::TEXT[]) AS split (id, words)
  WHERE e.id = split.id AND strip(e.words) <> ${storedWords('split.words')}`)

/** Words that were split in another way would not be found again. */
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
