/** The program's version, from package.json. */
export const VERSION = '1.0.0'
