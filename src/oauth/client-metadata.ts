/** What a client says of itself, whether it registers or publishes a document. */
import { z } from 'zod'

const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]'])

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK.has(hostname)

/** A name or an IPv4 address; any other character could mean something to a page's policy. */
const HOST = /^(?:[a-z0-9_-]+\.)*[a-z0-9_-]+$/

const MOST_CHARS = 1_000

/** https elsewhere, or http on the user's own machine, where any port matches. */
function mayRedirectTo(text: string): boolean {
  const url = text.length <= MOST_CHARS ? URL.parse(text) : null
  if (!url || text.includes('#') || url.username || url.password || url.port === '0') return false
  // Written in one way: what people see is what is meant.
  if (url.href !== text && url.href !== `${text}/`) return false
  if (isLoopback(url)) return url.protocol === 'http:'
  return (
    url.protocol === 'https:' && HOST.test(url.hostname) && !url.hostname.endsWith('.localhost')
  )
}

/**
 * Characters that are not seen, that turn the direction of others, or that are heaped upon each
 * other, could disguise a name.
 */
const shown = (name: string): string =>
  name
    .replace(/\p{Z}+/gu, ' ')
    .replace(/[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu, '')
    .replace(/(\p{M}{2})\p{M}+/gu, '$1')
    .trim()

/** A client of several kinds of redirects (`cursor://…`) is kept with those that it may use here. */
const redirectUris = z
  .array(z.string())
  .min(1)
  .max(20)
  .transform((all) => all.filter(mayRedirectTo))
  .refine(
    (usable) => usable.length > 0,
    'one must be an https address, or http on localhost, 127.0.0.1 or [::1], written as browsers write it',
  )

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
    redirect_uris: redirectUris,
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
