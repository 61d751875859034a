/** Advice for the person whose command has failed. */
import { ConfigError } from '../environment.ts'
import { StoreRefused, StoreUnavailable } from '../store/port/errors.ts'

export interface Advice {
  readonly message: string
  /** For programs. */
  readonly code: string
}

const KNOWN = [
  [ConfigError, 'configuration_invalid'],
  [StoreRefused, 'database_refused'],
  [StoreUnavailable, 'database_unavailable'],
] as const

/** Failed system calls with advice of their own. */
function systemAdvice({ code, message, port }: NodeJS.ErrnoException & { port?: number }): string {
  if (code === 'EADDRINUSE')
    return `Port ${port} is in use. Set PORT to another, or to 0 for any free one.`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST is not an address of this machine (${message}). Set it to 127.0.0.1, or to 0.0.0.0 for all.`
  return `The system does not allow it: ${message}`
}

/** Undefined: unexpected. */
export function advice(error: unknown): Advice | undefined {
  const known = KNOWN.find(([kind]) => error instanceof kind)
  if (known) return { message: (error as Error).message, code: known[1] }
  const { code, syscall } = error as NodeJS.ErrnoException
  return syscall ? { message: systemAdvice(error as Error), code: code ?? 'system' } : undefined
}
