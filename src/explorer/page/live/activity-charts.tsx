/** Rates and durations of the last minute as small charts, one a kind. They change once a second. */
import { useEffect, useState } from "preact/hooks";
import { entryKinds, type EntryKind } from "./activity-filter.ts";
import { meterSeconds, type ActivityMeter, type KindMeasure } from "./activity-meter.ts";
import { durationText, kindLabels } from "./entry-words.ts";

const chartHeight = 24;

export function ActivityCharts({ meter }: { readonly meter: ActivityMeter }) {
  const [measures, setMeasures] = useState(() => meter.read(Date.now()));
  useEffect(() => {
    const timer = setInterval(() => setMeasures(meter.read(Date.now())), 1000);
    return () => clearInterval(timer);
  }, [meter]);
  return (
    <section class="live-charts" aria-label="Rates and durations of the last 60 seconds">
      {entryKinds.map((kind) => (
        <KindChart key={kind} kind={kind} measure={measures[kind]} />
      ))}
    </section>
  );
}

function KindChart({ kind, measure }: { readonly kind: EntryKind; readonly measure: KindMeasure }) {
  const { perSecond, percentiles } = measure;
  const { short, many } = kindLabels[kind];
  const now = perSecond.at(-1) ?? 0;
  const most = Math.max(...perSecond);
  return (
    <div class={`live-chart panel kind-${kind}`}>
      <h2>{short}</h2>
      <p class="live-rate">
        <span>{now}</span>/s
      </p>
      <svg
        role="img"
        aria-label={`${many}: ${now} in the last second, at most ${most} a second in the last ${meterSeconds} seconds`}
        viewBox={`0 0 ${meterSeconds} ${chartHeight}`}
        preserveAspectRatio="none"
      >
        <path d={barsPath(perSecond, most)} />
      </svg>
      <dl class="live-percentiles">
        {(["p50", "p95", "p99"] as const).map((name) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{percentiles === null ? "–" : durationText(percentiles[name])}</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}

/** A bar a second. A second with one call is visible beside a second with a thousand. */
function barsPath(perSecond: readonly number[], most: number): string {
  return perSecond
    .map((count, second) => {
      if (count === 0) return "";
      const height = Math.max(2, (count / most) * chartHeight);
      return `M${second} ${chartHeight}v${-height}h.8v${height}z`;
    })
    .join("");
}
