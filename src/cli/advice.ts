/** Advice for the person whose command has failed. */
import { ConfigError } from '../config.ts'
import { StoreRefused, StoreUnavailable } from '../store/port/errors.ts'

const KNOWN = [ConfigError, StoreRefused, StoreUnavailable]

/** Undefined: unexpected. */
export const advice = (error: unknown): string | undefined => {
  if (KNOWN.some((known) => error instanceof known)) return (error as Error).message
  const { code, syscall, port, message } = error as NodeJS.ErrnoException & { port?: number }
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Set PORT to another, or to 0 for any free one.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is not an address of this machine (${message}). Set it to 127.0.0.1, or to 0.0.0.0 for all.`
  return syscall && `The system does not allow it: ${message}`
}
