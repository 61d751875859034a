/** Words for PostgreSQL's text search, split by the program instead of its parser. */
import { wordsToFind } from '../../words.ts'

/** The words of a text, for `storedWords`. */
export const joinedWords = (text: string): string => wordsToFind(text).join(' ')

/** The SQL expression that stores them. */
export const storedWords = (joined: string): string =>
  `array_to_tsvector(string_to_array(${joined}, ' '))`
