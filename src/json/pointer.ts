/** JSON pointers (RFC 6901). */

const escaped = (part: PropertyKey): string =>
  String(part).replaceAll('~', '~0').replaceAll('/', '~1')

/** A path of names and indices from the root. */
export const pointerOf = (path: readonly PropertyKey[]): string =>
  path.map((part) => `/${escaped(part)}`).join('')
