/** Guard lists of the gateway. No credentials are needed. */
import { z } from 'zod'
import { admission, received } from '../pipeline/guards/admission.ts'
import { openToAll } from '../pipeline/guards/origin.ts'

export const forReaders = [openToAll, admission] as const

/** For posting: the body is read before admission, so that a slow client occupies no slot. */
export const forSenders = [openToAll, received, admission] as const

/** Unknown query parameters are ignored. */
export const anyQuery = z.object({})
