import { h } from 'preact';
import { useState } from 'preact/hooks';
import type { Plan } from '../../../admin-api.ts';
import type { SimulatedDraft } from './draft.ts';
import { SetPlan } from './set-plan.ts';
import { SimulatedChange } from './simulated-change.ts';
import { SimulatedDay } from './simulated-day.ts';
import { SimulationForm } from './simulation-form.ts';

interface SimulationProps {
  /** `null`: a new plan. */
  readonly plan: Plan | null;
  /** Names that a new plan cannot have. */
  readonly taken?: readonly string[];
  readonly onPut: (name: string) => Promise<void>;
}

/** The form of a plan, the effect of the simulated draft, and the button that applies it. */
export function Simulation({ plan, taken, onPut }: SimulationProps) {
  const [simulated, setSimulated] = useState<SimulatedDraft | null>(null);
  return [
    h(SimulationForm, { plan, taken, onTried: setSimulated }),
    simulated && [
      h(SimulatedChange, { trial: simulated.trial }),
      h(SimulatedDay, { trial: simulated.trial }),
      h(SetPlan, { tried: simulated, onPut }),
    ],
  ];
}
