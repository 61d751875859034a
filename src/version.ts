/** Of the program, as its package has it. */
export const VERSION = '1.0.0'
