import { makers } from './makers.ts';

/**
 * What each setting means, once for docs/reference/settings.md and .env.example, which
 * `npm run docs` makes. The schema in settings.ts has the default and the values that it accepts.
 * The program does not contain this file.
 */

export interface SettingText {
  /** Paragraphs in Markdown, with links relative to docs/reference/. */
  text: string;
  /** How to call a default that cannot be written as a value. */
  unset?: string;
  /** The accepted values, where the schema names none. */
  value?: string;
  /** A value to copy. */
  example?: string;
}

interface SettingGroup {
  title: string;
  settings: Record<string, SettingText>;
}

const LOCAL = 'this machine, at `API_HOST` and `API_PORT`';
const MIRROR = 'For a mirror or a proxy of the provider.';

const otherMakerKeys = Object.fromEntries(
  makers.slice(1).map(({ prefixes, keyVariable }): [string, SettingText] => {
    const named = prefixes.map((prefix) => `\`${prefix}/\``).join(' or ');
    const text =
      `The key for models whose \`basemodel\` begins with ${named}. The service sends it to no other host, ` +
      'unless an entry with a URL of its own names it.';
    return [keyVariable, { text }];
  }),
);

/** Docker Compose reads it; the program does not. */
export const composeSettings: Record<string, SettingText> = {
  VOLUME_PATH: {
    text: 'Only for Docker Compose: the folder that holds `user-configs/`.',
    unset: 'the folder of `compose.yaml`',
    value: 'the path of a folder',
  },
};

export const settingGroups: readonly SettingGroup[] = [
  {
    title: 'Mode and configuration',
    settings: {
      DEPLOYMENT_MODE: {
        text:
          '`PROD` calls real models. `DEV` simulates them at no cost and keeps its results in a database of its own, ' +
          '`data/jobs_dev.db`. In `DEV`, symbols without imported prices get synthetic prices if no price key is set.',
        example: 'DEV',
      },
      PRESERVE_DEV_DATA: {
        text: 'Whether `DEV` keeps its database when the service restarts. `PROD` always keeps its database.',
        example: 'true',
      },
      RUNTIME_CONFIG_PATH: {
        text:
          'Your [configuration file](configuration.md), relative to the working directory. The service uses it instead of the default ' +
          'configuration, so it must be complete. If the file does not exist, the service warns at start and uses the default ' +
          'configuration: `configs/default_config.json` of the working directory, or the one that comes with the program.\n\n' +
          'Without this setting, the service uses `/tmp/runtime_config.json` if that file exists. All folders of the machine share ' +
          'that file, so the service says at start when it uses it. `merge-config` writes to the same path.',
        unset: '`/tmp/runtime_config.json`',
        value: 'the path of a file',
        example: 'my-config.json',
      },
      LOG_LEVEL: {
        text: 'The least important messages that the log contains. The log goes to stderr: JSON lines, or text on a terminal.',
        example: 'DEBUG',
      },
    },
  },
  {
    title: 'Keys of model providers',
    settings: {
      OPENAI_API_KEY: {
        text:
          'The key for models whose `basemodel` begins with `openai/` or names no provider. Entries with a URL of their own ' +
          'use it too, unless they name another key.',
      },
      ...otherMakerKeys,
      OPENAI_API_BASE: {
        text:
          'The URL that the service calls for every entry without a URL of its own, such as a gateway or a local server. ' +
          'The service sends `OPENAI_API_KEY` there, unless the entry names another key.',
        unset: "each provider's own URL",
        example: 'http://127.0.0.1:11434/v1',
      },
    },
  },
  {
    title: 'Prices and news',
    settings: {
      MASSIVE_API_KEY: {
        text:
          'The key for daily prices, splits and dividends from [Massive](https://massive.com), formerly Polygon. One request returns ' +
          'a day of the whole US market. The free plan covers the last two years, at five requests a minute.',
      },
      POLYGON_API_KEY: { text: 'Another name for `MASSIVE_API_KEY`, which takes precedence.' },
      ALPHAADVANTAGE_API_KEY: {
        text:
          'The key for daily prices and splits from [Alpha Vantage](https://www.alphavantage.co/support/#api-key), one symbol per ' +
          'request. With a key for Massive too, Alpha Vantage supplies the dates that the Massive plan does not include.',
      },
      ALPHAVANTAGE_API_KEY: {
        text: 'Another spelling of `ALPHAADVANTAGE_API_KEY`, which takes precedence.',
      },
      JINA_API_KEY: {
        text: 'The key for news from [Jina](https://jina.ai/). With it, models have the tool `search_news`.',
      },
      AUTO_DOWNLOAD_PRICE_DATA: {
        text: 'Whether a job downloads missing prices.',
        example: 'false',
      },
      PRICE_HISTORY_DAYS: {
        text:
          "The trading days before a job's first date whose prices the job downloads from Massive too, so that models can look back. " +
          'They are not simulated.',
        example: '60',
      },
      MAX_RATE_LIMIT_WAIT_SECONDS: {
        text: "The longest total time that a job waits for a price provider's rate limits.",
        example: '900',
      },
      MASSIVE_BASE_URL: { text: MIRROR },
      ALPHAVANTAGE_BASE_URL: { text: MIRROR },
      JINA_BASE_URL: { text: MIRROR },
    },
  },
  {
    title: 'Network and access',
    settings: {
      API_HOST: {
        text:
          'The address that the service listens on. Without it, the service listens on all interfaces, so that other machines can ' +
          'reach it: set `127.0.0.1` to accept only connections from this machine, or set `API_TOKEN`. With Docker Compose this is the ' +
          'address on the host; empty, it is `127.0.0.1`.',
        unset: 'all interfaces',
        example: '127.0.0.1',
      },
      API_PORT: {
        text:
          'The port that the service listens on. With 0 it takes any free port, which the log names. With Docker Compose this is the ' +
          'port on the host.',
        example: '8090',
      },
      API_TOKEN: {
        text:
          'An access token with all rights. `trigger` and `watch` send it. Without a token here or in `API_TOKENS_FILE`, ' +
          'anyone who can reach the port can do everything. With one, every request needs a token, except `/health` ' +
          'and the files of the pages. To create a token: `openssl rand -hex 32`.',
      },
      API_TOKENS_FILE: {
        text:
          'A UTF-8 file of access tokens, one per line. A token followed by `read-only` can change nothing; `#` begins a comment. ' +
          'The service reads the file at start.',
        value: 'the path of a file',
        example: 'tokens.txt',
      },
      ALLOWED_HOSTS: {
        text:
          'The host names under which web pages may use the service, in addition to IP addresses, `localhost` ' +
          'and the name of the machine.',
        example: 'sim.example.com',
      },
      API_URL: {
        text: 'The service that the commands `trigger` and `watch` use.',
        unset: LOCAL,
        example: 'https://sim.example.com',
      },
      PUBLIC_URL: {
        text: "The URL of the service for [your own agents](../guides/your-own-agent.md) and for the link to a job's page in a webhook.",
        unset: LOCAL,
        example: 'https://sim.example.com',
      },
      JOB_WEBHOOK_URL: {
        text:
          'The URL that receives a POST [when a job ends](../guides/run-every-night.md#announcements). It is in no log, because chat ' +
          'services put a secret into it.',
        example: 'https://hooks.example.com/sim',
      },
      JOB_WEBHOOK_SECRET: {
        text: 'The secret that signs these requests. To create one: `echo "whsec_$(openssl rand -base64 32)"`.',
      },
    },
  },
  {
    title: 'Simulation',
    settings: {
      MAX_SIMULATION_DAYS: {
        text:
          'The most calendar days from the first to the last date of a job, both included. The service rejects a ' +
          'trigger with a longer range.',
        example: '365',
      },
      RISK_FREE_RATE: {
        text:
          'The yearly risk-free rate as a fraction, for the Sharpe ratio, the Sortino ratio and alpha. The service stores it in the ' +
          'database at start, so that packages and views use the same rate.',
        example: '0.04',
      },
      MAX_PARALLEL_MODELS: {
        text: 'The most model-days that run at the same time. Lower it for a provider that allows few requests at a time.',
        unset: 'as many as memory allows',
        example: '4',
      },
      MODEL_REQUEST_TIMEOUT_SECONDS: {
        text:
          'The time limit for one request to a model; for a streamed answer, the longest silence. After that time ' +
          'the service sends the request again.',
        example: '300',
      },
      MODEL_DAY_TIMEOUT_SECONDS: {
        text: 'The time limit for one model-day, with all its requests and restarts.',
        example: '7200',
      },
      MODEL_DAY_MEMORY_MB: {
        text:
          'The memory that the process of a model-day may use, in megabytes. Half of it is for its JavaScript heap. ' +
          'The total is enforced on Linux only.',
        example: '1024',
      },
      MODEL_DAY_COMMAND: {
        text:
          'The command that runs each model-day in place of the Node of the service, for ' +
          '[many machines](../guides/many-machines.md) or a sandbox.',
        example: '["srun", "-n1", "/usr/bin/node"]',
      },
      MODEL_DAY_COMMAND_ENV: {
        text: 'The environment variables that this command receives in addition to `PATH` and `HOME`.',
        example: 'SLURM_CONF,SSH_AUTH_SOCK',
      },
    },
  },
  { title: 'Docker Compose', settings: composeSettings },
];
