/** What a change of a file looks like. */
import { createTwoFilesPatch } from 'diff'

const NO_FILE = '/dev/null'

/** As `diff -u` has it. Undefined: there is no file. */
export const differenceOf = (
  path: string,
  before: string | undefined,
  after: string | undefined,
): string =>
  createTwoFilesPatch(
    before === undefined ? NO_FILE : path,
    after === undefined ? NO_FILE : path,
    ...[before ?? '', after ?? ''],
  ).replace(/^(Index: .*\n)?=+\n/, '')
