/**
 * What a database that keeps homes on several servers (deploy/citus.sql) needs besides. Credentials
 * are found by their home there, so a directory says which home a token opens. And one server may be
 * down while the others answer.
 */
import type { Identity } from '../port/identity.ts'
import type { Grant, NewAccess } from '../port/oauth.ts'
import { type Statement, statement } from './engine/connections.ts'
import type { Ask } from './engine/session.ts'

const findDirectory = statement<{ exists: boolean }>(
  `SELECT to_regclass('token_homes') IS NOT NULL AS exists`,
)

export async function isSharded(read: Ask): Promise<boolean> {
  const [found] = await read(findDirectory)
  return found?.exists ?? false
}

/** A foreign key that is left out there, because accounts are not on the servers of the homes. */
export const ACCOUNT_OF_AGENT = 'agents_account_id_fkey'

const homeOf = statement<{ agent_id: string }>(
  'SELECT agent_id FROM token_homes WHERE token_hash = $1',
)

interface ByToken<Row> {
  readonly anywhere: Statement<Row>
  readonly inHome: Statement<Row>
}

/** How a row is found by a token's hash. `select` ends with the condition for it, $1. */
export const byToken = <Row>(select: string): ByToken<Row> => ({
  anywhere: statement(select),
  inHome: statement(`${select} AND agent_id = $2`),
})

export const findByToken =
  <Row>(read: Ask, sharded: boolean, { anywhere, inHome }: ByToken<Row>) =>
  async (tokenHash: string): Promise<Row | undefined> => {
    if (!sharded) return (await read(anywhere, tokenHash))[0]
    const [home] = await read(homeOf, tokenHash)
    return home && (await read(inHome, tokenHash, home.agent_id))[0]
  }

/** The valid ones, and the operator's that was replaced last. */
const tokensOf = statement<{ token_hash: string }>(`
  SELECT token_hash FROM credentials WHERE agent_id = $1
  UNION ALL SELECT replaced_hash FROM operator_replacements WHERE agent_id = $1`)

const enter = statement(`
  WITH gone AS (
    DELETE FROM token_homes WHERE agent_id = $1 AND token_hash <> ALL($2::TEXT[])
  ),
  entered AS (
    INSERT INTO token_homes (token_hash, agent_id)
    SELECT token_hash, $1 FROM unnest($2::TEXT[]) AS t (token_hash)
    ON CONFLICT (token_hash) DO NOTHING
  )
  SELECT`)

/** Whose tokens a verb may change, by its first argument. */
type Owned = string | Pick<Identity, 'agentId'> | Grant | NewAccess

export function ownerOf(owned: Owned): string {
  if (typeof owned === 'string') return owned
  return 'grant' in owned ? owned.grant.agentId : owned.agentId
}

/** Brings the directory up to date with the tokens of an agent, in the transaction that changed them. */
export async function enterTokens(ask: Ask, owned: Owned): Promise<void> {
  const agentId = ownerOf(owned)
  const tokens = await ask(tokensOf, agentId)
  await ask(
    enter,
    agentId,
    tokens.map(({ token_hash }) => token_hash),
  )
}

/**
 * Asks about several homes together, or about each alone if that fails: those whose server is down
 * are left out.
 */
export async function askTogether<Home, Row>(
  sharded: boolean,
  homes: readonly Home[],
  ask: (homes: readonly Home[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  if (!sharded) return ask(homes)
  return ask(homes).catch(async () => {
    const each = await Promise.allSettled(homes.map((home) => ask([home])))
    return each.flatMap((asked) => (asked.status === 'fulfilled' ? asked.value : []))
  })
}
