/** The program's version, from package.json. */
export const VERSION = '2.0.0'
