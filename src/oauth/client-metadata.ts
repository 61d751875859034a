/** What a client says of itself, whether it registers or publishes a document. */
import { z } from 'zod'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.has(hostname)

/** https elsewhere, or http on the user's own machine, where any port matches. */
function mayRedirectTo(text: string): boolean {
  const url = URL.parse(text)
  if (!url || !/^[!-~]+$/.test(text) || text.includes('#')) return false
  if (url.username || url.password) return false
  return url.protocol === 'https:' ? !isLoopback(url) : url.protocol === 'http:' && isLoopback(url)
}

/** Characters that are not seen, or that turn the direction of others, could disguise a name. */
const shown = (name: string): string => name.replace(/\p{C}/gu, '').trim()

const redirectUri = z
  .string()
  .max(1_000)
  .refine(mayRedirectTo, 'must be an https address, or http on localhost, 127.0.0.1 or [::1]')

const including = (needed: string) =>
  z
    .array(z.string().max(100))
    .max(10)
    .refine((all) => all.includes(needed), `must include "${needed}"`)
    .optional()

/** What else is sent is not kept: this service does not use it. */
export const clientMetadata = z
  .object({
    client_name: z.string().max(200).transform(shown).optional(),
    redirect_uris: z.array(redirectUri).min(1).max(20),
    grant_types: including('authorization_code'),
    response_types: including('code'),
    token_endpoint_auth_method: z.string().max(100).optional(),
  })
  .meta({ id: 'ClientMetadata' })

type ClientMetadata = z.output<typeof clientMetadata>

/** As the library takes it: all clients are public, and may use any port of loopback. */
export const keptMetadata = ({ client_name, redirect_uris }: ClientMetadata) => ({
  ...(client_name && { client_name }),
  redirect_uris,
  application_type: 'native',
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
  token_endpoint_auth_method: 'none',
})

/** The first fault, as a sentence. */
export const faultOf = ({ issues: [issue] }: z.ZodError): string =>
  issue ? `${issue.path.join('.') || 'The metadata'}: ${issue.message}` : 'not valid'
