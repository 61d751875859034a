/** The rooms' rows: the gateway for people. */
import { type Rights, rowsOf } from './rights.ts'

const row = rowsOf({
  access: 'anyone',
  whilePaused: true,
  named: 'any',
  budget: undefined,
  form: undefined,
  cors: 'none',
  strict: false,
  cacheControl: 'no-cache',
  ofHome: false,
  needsBirths: false,
  waits: true,
})

export const roomRights: readonly Rights[] = [
  row('room', 'GET /rooms/:room'),
  row('languagePage', 'GET /language', { waits: false }),
  row('interfacePage', 'GET /interface', { waits: false }),
  row('leaveInRoom', 'POST /rooms/:room', {
    // Three for each byte of a text, and what a form needs beside it.
    form: { maxBytes: 196_608, again: true },
    cacheControl: null,
  }),
]
