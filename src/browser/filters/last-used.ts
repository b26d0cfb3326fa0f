/**
 * The control of a form that the reader used last. A change opens a page with a new form, where the
 * same one gets the focus.
 */
interface LastUsed {
  /** Remembers a control by its name. */
  set(name: string): void;
  /**
   * Gives the focus to the control of that name, once, after the page has given it to its heading.
   */
  focusIn(form: HTMLFormElement): void;
}

/**
 * A memory that outlives the form: keep one per kind of form, outside of the function that builds
 * it.
 */
export function lastUsed(): LastUsed {
  let last: string | null = null;
  return {
    set: (name) => (last = name),
    focusIn(form) {
      const name = last;
      last = null;
      if (name !== null)
        queueMicrotask(() =>
          form.querySelector<HTMLElement>(`[name="${name}"]`)?.focus({ preventScroll: true }),
        );
    },
  };
}
