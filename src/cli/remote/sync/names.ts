/** Which names no file should have, because some system has other plans for them. */

/** Windows reads a backslash as a slash, a colon as a drive or a stream, and refuses the others. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for.
const FORBIDDEN = /[\\:*?"<>|\u0000-\u001f\u007f]/

/** Devices of Windows, in any directory and with any ending. */
const DEVICE = /^(con|prn|aux|nul|conin\$|conout\$|(com|lpt)[0-9\u00b9\u00b2\u00b3])[ .]*(\..*)?$/i

/** Bytes of one name that every file system takes. */
const MOST_NAME_BYTES = 255

/** macOS takes 1,024, with the directory that is synced. */
const MOST_PATH_BYTES = 1_000

const MOST_DIRECTORIES = 100

export const isTooDeep = (path: string): boolean => path.split('/').length > MOST_DIRECTORIES + 1

export const TOO_DEEP = `it is more than ${MOST_DIRECTORIES} directories deep`

function whyNot(name: string): string | undefined {
  if (FORBIDDEN.test(name)) return 'its name has characters that Windows does not allow'
  if (/[. ]$/.test(name)) return 'its name ends in a dot or a space, which Windows drops'
  if (DEVICE.test(name)) return 'its name is a device name on Windows'
  const isLong = Buffer.byteLength(name) > MOST_NAME_BYTES
  return isLong ? `its name has more than ${MOST_NAME_BYTES} bytes` : undefined
}

/** Why a path can be no file's on some system; it is left alone on each. */
export function whyUnusable(path: string): string | undefined {
  if (isTooDeep(path)) return TOO_DEEP
  if (Buffer.byteLength(path) > MOST_PATH_BYTES) {
    return `its path has more than ${MOST_PATH_BYTES} bytes`
  }
  for (const name of path.split('/')) {
    const why = whyNot(name)
    if (why !== undefined) return why
  }
  return undefined
}
