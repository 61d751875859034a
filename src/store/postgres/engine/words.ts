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

/**
 * An index keeps the place of every word that ever was, and strangers make up words without end: so
 * words share a bounded number of places. Whoever asks a place looks whether the word is there.
 */
const PLACE_BITS = 20

/** A word that shares its place with a common one is looked for among so many of the newest. */
const MOST_CANDIDATES = 1_000

// Its index alone may answer: the planner counts a row's words as nothing, and reads all of them for
// a rare word. Nobody needs statistics of it, for which a sample's places would be made up anew.
export const placeWords = `
  CREATE FUNCTION word_places(TSVECTOR) RETURNS INTEGER[] LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT array_agg((''x'' || left(md5(word), ${PLACE_BITS / 4}))::BIT(${PLACE_BITS})::INTEGER)
        FROM unnest(tsvector_to_array($1)) AS t (word)';
  DROP FUNCTION find_kindred(TSQUERY, BIGINT);
  DROP INDEX entries_by_word;
  CREATE INDEX entries_by_place ON entries USING GIN (word_places(words)) WITH (fastupdate = off);
  ALTER INDEX entries_by_place ALTER COLUMN 1 SET STATISTICS 0;
  CREATE FUNCTION find_kindred(TEXT[], BIGINT) RETURNS SETOF TEXT LANGUAGE sql STABLE
    SET enable_seqscan = off SET enable_indexscan = off
    AS 'SELECT id FROM (
          SELECT id, words FROM entries WHERE word_places(words) && word_places(array_to_tsvector($1))
          ORDER BY id DESC LIMIT ${MOST_CANDIDATES}
        ) AS candidates
        WHERE tsvector_to_array(words) && $1 ORDER BY id DESC LIMIT $2';`
