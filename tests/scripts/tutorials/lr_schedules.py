"""Every schedule of the learning rate, twelve steps each, and an optimizer that follows one."""

import paddle
from paddle.optimizer import lr

schedules = {
    "noam": lr.NoamDecay(d_model=16, warmup_steps=4),
    "piecewise": lr.PiecewiseDecay(boundaries=[3, 6], values=[0.1, 0.05, 0.01]),
    "natural": lr.NaturalExpDecay(learning_rate=0.5, gamma=0.1),
    "inverse": lr.InverseTimeDecay(learning_rate=0.5, gamma=0.1),
    "polynomial": lr.PolynomialDecay(learning_rate=0.5, decay_steps=5, cycle=True),
    "warmup": lr.LinearWarmup(learning_rate=0.5, warmup_steps=4, start_lr=0, end_lr=0.5),
    "warm_cosine": lr.LinearWarmup(lr.CosineAnnealingDecay(0.5, T_max=8), 4, 0.0, 0.5),
    "exponential": lr.ExponentialDecay(learning_rate=0.5, gamma=0.9),
    "multistep": lr.MultiStepDecay(learning_rate=0.5, milestones=[2, 4, 6], gamma=0.8),
    "step": lr.StepDecay(learning_rate=0.5, step_size=5, gamma=0.8),
    "lambda": lr.LambdaDecay(learning_rate=0.5, lr_lambda=lambda x: 0.95**x),
    "cosine": lr.CosineAnnealingDecay(learning_rate=0.5, T_max=10),
    "multiplicative": lr.MultiplicativeDecay(learning_rate=0.5, lr_lambda=lambda x: 0.95),
    "onecycle": lr.OneCycleLR(max_learning_rate=1.0, total_steps=12),
    "cyclic": lr.CyclicLR(base_learning_rate=0.1, max_learning_rate=0.5, step_size_up=3),
    "restarts": lr.CosineAnnealingWarmRestarts(learning_rate=0.5, T_0=3, T_mult=2) if hasattr(lr, "CosineAnnealingWarmRestarts") else None,
    "linear": lr.LinearLR(learning_rate=0.5, total_steps=5) if hasattr(lr, "LinearLR") else None,
}
for name, schedule in schedules.items():
    if schedule is None:
        continue
    rates = []
    for _ in range(11):
        rates.append(round(schedule(), 6))
        schedule.step()
    print(name, rates)

plateau = lr.ReduceOnPlateau(learning_rate=1.0, factor=0.5, patience=1, verbose=True, cooldown=1)
for loss in (3.0, 2.0, 2.0, 2.0, 2.0, 1.0, 1.0, 1.0, 1.0):
    plateau.step(paddle.to_tensor([loss]))
print(plateau.last_lr)

linear = paddle.nn.Linear(1, 1, weight_attr=paddle.nn.initializer.Constant(1.0), bias_attr=False)
scheduler = lr.StepDecay(0.1, 2, verbose=False)
for clip in (None, paddle.nn.ClipGradByValue(0.5)):
    opt = paddle.optimizer.Momentum(scheduler, parameters=linear.parameters(), grad_clip=clip, use_nesterov=True)
    for _ in range(4):
        linear(paddle.to_tensor([[2.0]])).backward()
        opt.step()
        opt.clear_grad()
        scheduler.step()
    print("%.6f %.6f" % (linear.weight.item(), opt.get_lr()))
state = scheduler.state_dict()
print(sorted(state), state["last_epoch"])
