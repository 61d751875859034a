/** What stands in front of the gateway, in order. Nobody is asked who they are. */
import { z } from 'zod'
import { admission, received } from '../pipeline/guards/admission.ts'
import { openToAll } from '../pipeline/guards/origin.ts'

/** For who reads. */
export const forReaders = [openToAll, admission] as const

/** For who leaves something: the body is read before the door, so that nobody stands in it while sending. */
export const forSenders = [openToAll, received, admission] as const

/** Parameters that an endpoint does not know are no filters, so they are let be. */
export const anyQuery = z.object({})
