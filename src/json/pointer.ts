/** JSON pointers (RFC 6901). */

const escaped = (part: PropertyKey): string =>
  String(part).replaceAll('~', '~0').replaceAll('/', '~1')

/** The way from the whole value, whose pointer is empty, through names and indices. */
export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${escaped(part)}`).join('')
