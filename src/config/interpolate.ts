import type { Environment } from './environment.ts';

interface Interpolated {
  readonly value: string;
  /** Whether a secret went into it. */
  readonly secret: boolean;
  /** What is wrong; a mistake without a message is in the environment's list already. */
  readonly faults: readonly { readonly message?: string }[];
}

/** Puts the environment's values in the place of `${NAME}`; `$${` stands for a literal `${`. Values are not looked into again. */
export function interpolate(text: string, environment: Environment): Interpolated {
  const faults: { readonly message?: string }[] = [];
  let secret = false;
  const value = text.replaceAll(
    /\$\$\{|\$\{([^}]*)(\}?)/g,
    (match, name: string | undefined, end: string | undefined) => {
      if (name === undefined) return '${';
      if (end !== '}' || !/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
        faults.push({ message: 'must name a variable as ${NAME}; a literal "${" is written "$${"' });
        return match;
      }
      const looked = environment.lookup(name);
      if (looked.status === 'found') {
        secret ||= looked.secret;
        return looked.value;
      }
      const similar = looked.status === 'unset' ? environment.similar(name) : undefined;
      const meant = similar === undefined ? '' : `; did you mean ${similar}?`;
      faults.push(
        looked.status === 'unset'
          ? { message: `needs the environment variable ${name}, which is not set or empty${meant}` }
          : {},
      );
      return match;
    },
  );
  return { value, secret, faults };
}
